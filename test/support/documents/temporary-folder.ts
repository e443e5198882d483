import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'mocha';

const created: string[] = [];

/** A folder with these files, removed after the test. */
export function createFolder(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-test-'));
  created.push(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** Registers the removal. Call it once per `describe`. */
export function removeFoldersAfterEach(): void {
  afterEach(() => {
    for (const folder of created.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
}
