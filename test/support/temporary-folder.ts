import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Creates a folder with these files, which is removed after the tests of the `describe` or file. */
export function createFolder(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-test-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  if ('after' in globalThis) after(remove);
  // A program without tests, such as a bench.
  else process.once('exit', remove);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}
