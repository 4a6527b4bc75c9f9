// Reporter for node's test runner: prints what failed with its stack, and every
// skipped test with its reason. Counts passed tests, without suites and without
// files that hold none, into the file that LANE_COUNT names.
import { appendFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';

export default async function* report(events) {
  const counts = new Map(); // file -> passed tests
  let skipped = 0;
  let failed = 0;
  for await (const { type, data } of events) {
    const wholeFile = data.file !== undefined && resolve(data.name ?? '') === data.file;
    switch (type) {
      case 'test:pass':
        if (data.skip !== undefined || data.todo !== undefined) {
          skipped++;
          yield `skip  ${data.name}: ${data.skip ?? data.todo}\n`;
        } else if (!wholeFile && data.details.type !== 'suite') {
          counts.set(data.file, (counts.get(data.file) ?? 0) + 1);
        }
        break;
      case 'test:fail': {
        const error = data.details.error;
        if (error?.failureType === 'subtestsFailed') break;
        failed++;
        yield `FAIL  ${data.file ? relative('', data.file) : ''} ${wholeFile ? '' : data.name}\n`;
        yield `${error?.cause?.stack ?? error?.cause ?? error?.message ?? error}\n`;
        break;
      }
      case 'test:stdout':
      case 'test:stderr':
        yield data.message;
        break;
    }
  }
  let passed = 0;
  for (const [file, count] of counts) {
    passed += count;
    yield `ok    ${relative('', file)}  ${count}\n`;
  }
  if (process.env.LANE_COUNT) appendFileSync(process.env.LANE_COUNT, `${passed}\n`);
  yield `${passed} tests passed, ${skipped} skipped, ${failed} failed\n`;
}
