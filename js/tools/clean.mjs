// Removes the given build folders, so that files of deleted sources are neither packed nor tested.
import { rm } from 'node:fs/promises';

for (const folder of process.argv.slice(2)) {
  await rm(new URL(`../${folder}`, import.meta.url), { recursive: true, force: true });
}
