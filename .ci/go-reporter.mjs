// Reads `go test -json` and prints one line a package, the whole output of what
// failed, and every skipped test with its reason: a silent skip reads as green.
// Counts passed tests (leaves only) into the file that LANE_COUNT names.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const output = new Map(); // package + test -> lines
const parents = new Set(); // tests that have subtests
const passed = [];
let failures = 0;
let skips = 0;

const key = (event) => `${event.Package}\n${event.Test ?? ''}`;

for await (const line of createInterface({ input: process.stdin })) {
  let event;
  try {
    event = JSON.parse(line);
  } catch {
    console.log(line); // the go command's own words, such as a download
    continue;
  }
  if (!output.has(key(event))) output.set(key(event), []);
  const lines = output.get(key(event));
  switch (event.Action) {
    case 'build-output':
      process.stdout.write(event.Output);
      break;
    case 'output':
      lines.push(event.Output);
      break;
    case 'run':
      if (event.Test.includes('/')) {
        parents.add(`${event.Package}\n${event.Test.slice(0, event.Test.lastIndexOf('/'))}`);
      }
      break;
    case 'pass':
      if (event.Test === undefined) {
        console.log(`ok    ${event.Package}  ${event.Elapsed.toFixed(1)} s`);
      } else {
        passed.push(key(event));
        output.delete(key(event));
      }
      break;
    case 'skip':
      if (event.Test !== undefined) {
        skips++;
        const reason = lines
          .filter((text) => !/^\s*(===|---)/.test(text))
          .join('')
          .trim();
        console.log(`skip  ${event.Package} ${event.Test}: ${reason}`);
      }
      break;
    case 'fail':
      failures++;
      if (event.Test !== undefined || !event.FailedBuild) process.stdout.write(lines.join(''));
      console.log(`FAIL  ${event.Package} ${event.Test ?? ''}`);
      break;
  }
}

const count = passed.filter((name) => !parents.has(name)).length;
if (process.env.LANE_COUNT) appendFileSync(process.env.LANE_COUNT, `${count}\n`);
console.log(`${count} tests passed, ${skips} skipped${failures > 0 ? ', some failed' : ''}`);
process.exitCode = failures > 0 ? 1 : 0;
