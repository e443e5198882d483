import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A command of a page and the output that the page promises. */
interface DocumentedCommand {
  readonly command: string;
  readonly output: string;
}

const BLOCK = /```(\w*)\n([\s\S]*?)```/g;

/** A code block of a page. */
export interface DocumentedBlock {
  /** The word after the backquotes: `sh`, `ts`, … */
  readonly kind: string;
  readonly body: string;
}

/** Every code block, in the order of the page. */
export function readDocumentedBlocks(page: string): DocumentedBlock[] {
  const text = readFileSync(join(process.cwd(), page), 'utf8');
  return [...text.matchAll(BLOCK)].map(([, kind = '', body = '']) => ({ kind, body }));
}

/** Each `sh` block that a `json` or `text` block follows. */
export function readDocumentedCommands(page: string): DocumentedCommand[] {
  const blocks = readDocumentedBlocks(page);
  return blocks.flatMap(({ kind, body }, index) => {
    const next = blocks[index + 1];
    if (kind !== 'sh' || (next?.kind !== 'json' && next?.kind !== 'text')) return [];
    return [{ command: body.trim(), output: next.body.trim() }];
  });
}

/** Runs it in a shell with `url` instead of the port of the docs. Masks values that differ between runs. */
export async function runDocumented(command: string, url: string): Promise<string> {
  const { host } = new URL(url);
  const { stdout } = await promisify(execFile)('bash', [
    '-c',
    command.replaceAll('localhost:3000', host).replaceAll('127.0.0.1:3000', host),
  ]);
  return mask(stdout.trim());
}

function mask(text: string): string {
  return (
    text
      .replace(/"(request_id|correlation_id)":"[^"]+"/g, '"$1":"…"')
      // Of a stored value: the time of its last write.
      .replace(/"revision":\d{13}/g, '"revision":1769860800000')
  );
}
