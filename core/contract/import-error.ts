import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { dirname, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECK_TIMEOUT_MS = 5_000;

/** Matches a place in a stack: `file:///srv/a.mjs?v=1:3:14`. */
const PLACE = /(file:\/\/[^\s():?]+)(?:\?[^\s():]*)?((?::\d+){1,2})/g;
/** Matches the line before a syntax error: `/srv/a.mjs:3`. */
const CHECKED_LINE = /(:\d+)$/m;

/**
 * Finds where the code below the folder of an imported file failed.
 * @returns ` (name.mjs:3:14)`, which continues a message; an empty text if the place is unknown.
 */
export async function locateImportError(thrown: unknown, path: string): Promise<string> {
  if (!(thrown instanceof Error)) return '';
  const entry = await realpath(path).catch(() => path);
  const folder = dirname(entry);
  for (const [, url = '', place] of (thrown.stack ?? '').matchAll(PLACE)) {
    const name = relative(folder, fileURLToPath(url));
    const [first] = name.split(sep);
    if (first !== '..' && first !== 'node_modules') return ` (${name}${place})`;
  }
  const line = thrown instanceof SyntaxError ? await findSyntaxError(entry) : undefined;
  return line === undefined ? '' : ` (${relative(folder, entry)}${line})`;
}

/** Node.js keeps the line of a syntax error from the code that imports, but prints it. */
function findSyntaxError(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: {}, timeout: CHECK_TIMEOUT_MS };
    execFile(process.execPath, ['--check', path], options, (_error, _stdout, stderr) =>
      resolve(CHECKED_LINE.exec(stderr)?.[1]),
    );
  });
}
