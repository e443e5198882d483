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
 * The message on one line, with the place where the code below the folder of the imported file failed:
 * `no license (name.mjs:3:14)`.
 */
export async function explainImportError(
  message: string,
  thrown: unknown,
  path: string,
): Promise<string> {
  const line = message.trim().replace(/\s*\n\s*/g, ' ');
  const place = thrown instanceof Error ? await findPlace(thrown, path) : null;
  return place === null ? line : `${line} (${place})`;
}

async function findPlace(error: Error, path: string): Promise<string | null> {
  const entry = await realpath(path).catch(() => path);
  const folder = dirname(entry);
  for (const [, url = '', place] of (error.stack ?? '').matchAll(PLACE)) {
    const name = relative(folder, toPath(url));
    const [first] = name.split(sep);
    if (first !== '..' && first !== 'node_modules') return `${name}${place}`;
  }
  const line = error instanceof SyntaxError ? await findSyntaxError(entry) : undefined;
  return line === undefined ? null : `${relative(folder, entry)}${line}`;
}

/** A message, which the stack repeats, may have what looks like a place. */
function toPath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return sep;
  }
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
