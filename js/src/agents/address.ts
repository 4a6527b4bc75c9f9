/**
 * Which addresses are of the public internet: not of this machine, of its networks or of a cloud's metadata. Go's is
 * host/agents/address.go.
 */

/** A block of addresses: its bytes, and how many bits of them count. */
type Block = readonly [bytes: readonly number[], bits: number];

/** The blocks of IPv4 that are not public. */
const PRIVATE: readonly Block[] = (
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '168.63.129.16/32 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
)
  .split(' ')
  .map((text) => block(text, bytesOfIPv4));

/** The blocks of IPv6 that are not public. */
const PRIVATE6: readonly Block[] =
  '::/96 100::/64 2001::/23 2001:db8::/32 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8'
    .split(' ')
    .map((text) => block(text, bytesOfIPv6));

/** The blocks of IPv6 whose addresses hold one of IPv4, and the byte at which that begins. */
const EMBEDDED: readonly (readonly [Block, number])[] = (
  [
    ['::ffff:0:0/96', 12],
    ['64:ff9b::/96', 12],
    ['64:ff9b:1::/48', 12],
    ['2002::/16', 2],
  ] as const
).map(([text, at]) => [block(text, bytesOfIPv6), at]);

function block(text: string, read: (address: string) => readonly number[]): Block {
  const [address = '', bits = '0'] = text.split('/');
  return [read(address), Number(bits)];
}

function isIn([prefix, bits]: Block, address: readonly number[]): boolean {
  for (let at = 0, left = bits; left > 0; at++, left -= 8) {
    const shift = Math.max(8 - left, 0);
    if (prefix[at]! >> shift !== address[at]! >> shift) return false;
  }
  return true;
}

/** Whether an address of IPv4, in four decimal numbers, is public. */
export function isPublicIPv4(address: string): boolean {
  return isPublic4(bytesOfIPv4(address));
}

function isPublic4(bytes: readonly number[]): boolean {
  return !PRIVATE.some((some) => isIn(some, bytes));
}

/** Whether an address of IPv6, without brackets, is public. One that is none is not. */
export function isPublicIPv6(address: string): boolean {
  const bytes = bytesOfIPv6(address);
  if (bytes.length !== 16) return false;
  const embedded = EMBEDDED.find(([some]) => isIn(some, bytes));
  if (embedded !== undefined) return isPublic4(bytes.slice(embedded[1], embedded[1] + 4));
  return !PRIVATE6.some((some) => isIn(some, bytes));
}

function bytesOfIPv4(address: string): readonly number[] {
  return address.split('.').map(Number);
}

/** The bytes of an address of IPv6; none if it is no address. */
function bytesOfIPv6(address: string): readonly number[] {
  let plain: string;
  try {
    plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  } catch {
    return [];
  }
  const [head = '', tail] = plain.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const first = groups(head);
  const last = groups(tail ?? '');
  const zeros = Array<string>(8 - first.length - last.length).fill('0');
  return [...first, ...zeros, ...last].flatMap((group) => {
    const n = Number.parseInt(group, 16);
    return [n >> 8, n & 0xff];
  });
}

/** Whether an origin is written with its scheme's own port: what requests go to never is. */
export function hasDefaultPort(origin: string): boolean {
  return /^(http:.*:80|https:.*:443)$/.test(origin);
}
