import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A block whose first line is a comment with a path under `modules.d`. */
const FILE_BLOCK = /```\w+\n(?:#|\/\/) (modules\.d\/\S+)\n([\s\S]*?)```/g;

/** Writes the files of a page into `directory`. @returns their paths */
export function writeDocumentedFiles(page: string, directory: string): string[] {
  const text = readFileSync(join(process.cwd(), page), 'utf8');
  return [...text.matchAll(FILE_BLOCK)].map(([, path = '', content = '']) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
    return path;
  });
}
