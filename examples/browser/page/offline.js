// The service worker: the page works without its server, from copies that were taken when it was last there.
//
// Its address holds a version of all files. For each version a cache holds all of them or none, so that files of two
// versions never meet. While the server answers, its answers count. The worker of a later version waits until no page is
// open that has the one before, as browsers have it: until then the copies of the one before serve when the server is
// gone. Models lie in the caches of their libraries, and come from elsewhere: they are none of this worker's business.

const PREFIX = 'turncore-demo-';
const NAME = PREFIX + new URL(location.href).searchParams.get('version');
/** Libraries are large: a copy is taken when one is used. */
const LIBRARY = /^\/libraries\//;

addEventListener('install', (event) => event.waitUntil(install()));
addEventListener('activate', (event) => event.waitUntil(activate()));
addEventListener('fetch', (event) => {
  const { method, url } = event.request;
  if (method === 'GET' && new URL(url).origin === location.origin) {
    event.respondWith(answer(event.request));
  }
});

/** Takes copies of all files that the page needs at first, and of those that it used in an older version. */
async function install() {
  const { files } = await (await fetch('/config.json')).json();
  const used = await Promise.all((await older()).map((name) => pathsIn(name)));
  const paths = new Set([...files, ...used.flat().filter((path) => LIBRARY.test(path))]);
  await retried(async () => (await caches.open(NAME)).addAll([...paths]));
}

/** Takes the copies, three times at most: one request in a hundred that fails would cost all of them. */
async function retried(take) {
  for (let tries = 1; ; tries++) {
    try {
      return await take();
    } catch (error) {
      await caches.delete(NAME);
      if (tries === 3) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * tries));
    }
  }
}

async function activate() {
  await Promise.all((await older()).map((name) => caches.delete(name)));
  await clients.claim();
}

/** The caches of other versions. */
async function older() {
  return (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== NAME);
}

async function pathsIn(name) {
  const requests = await (await caches.open(name)).keys();
  return requests.map(({ url }) => new URL(url).pathname);
}

async function answer(request) {
  try {
    const response = await fetch(request);
    if (response.ok && LIBRARY.test(new URL(request.url).pathname)) await keep(request, response);
    return response;
  } catch (error) {
    const cache = await caches.open(NAME);
    const copy = await cache.match(request, { ignoreSearch: request.mode === 'navigate' });
    if (copy === undefined) throw error;
    if (!request.url.endsWith('/config.json')) return copy;
    // So that the page knows.
    return Response.json({ ...(await copy.json()), offline: true });
  }
}

/** Takes a copy, unless there is one. */
async function keep(request, response) {
  const cache = await caches.open(NAME);
  if ((await cache.match(request)) === undefined) await cache.put(request, response.clone());
}
