// Plays a recorded conversation in a page of headless Chromium and writes the event log to standard output. The command
// starts it:
//
//   turncore run --recording FILE --engine chromium
import { launchChromium } from '../browser/chromium.mjs';
import { startPackageServer } from '../browser/package-server.mjs';

const [stage] = process.argv.slice(2);
const server = await startPackageServer({
  folders: { recording: new URL('./', import.meta.url) },
});
const browser = await launchChromium();
try {
  const page = await browser.newPage({ bypassCSP: true });
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${server.address}/`);
  const log = await page.evaluate(inPage, stage);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  process.stdout.write(log);
} finally {
  await browser.close();
  server.stop();
}

async function inPage(address) {
  // The parts must share their classes, so the package is loaded unbundled; a bundler would resolve this import.
  const map = document.createElement('script');
  map.type = 'importmap';
  map.text = JSON.stringify({
    imports: {
      '#packaged': '/package/packaged/fetched.js',
      '#engine': '/package/engine/late.js',
      '#remedies': '/package/remedies/late.js',
    },
  });
  document.head.append(map);
  const { play } = await import('/recording/play.mjs');
  const index = await import('/package/index.js');
  const lines = await import('/package/cli/lines.js');
  const entropy = await import('/package/entropy.js');
  const { fullModuleURL } = await import('/package/wasm.js');
  return play({ index, lines, entropy }, address, () => ({
    module: index.loadModule(fullModuleURL),
  }));
}
