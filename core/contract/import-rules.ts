import { array, object, optional, record, refine, size, string, type, unknown } from 'superstruct';

const MAX_FILES = 16;
const MAX_FILE_BYTES = 4_194_304;
const FILE_NAME = /^(?!manifest\.json$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const MAX_LEFT_OUT = 100_000;
const MAX_NOTES = 1000;

/** What an importer returns, which is code of others; the manifest has its own rules. */
export const importedModule = type({
  version: optional(string()),
  summary: optional(string()),
  routes: array(type({ method: string(), path: string() })),
  schemas: optional(record(string(), unknown())),
  provider: object({ kind: string(), config: record(string(), unknown()) }),
  replaces: optional(array(string())),
  descriptor: optional(record(string(), unknown())),
  files: optional(
    refine(record(string(), unknown()), `at most ${MAX_FILES} small files`, (files) => {
      const entries = Object.entries(files);
      return entries.length <= MAX_FILES && entries.every(isFile);
    }),
  ),
  leftOut: optional(
    size(
      array(type({ place: string(), part: optional(string()), reason: string() })),
      0,
      MAX_LEFT_OUT,
    ),
  ),
  notes: optional(size(array(string()), 0, MAX_NOTES)),
});

function isFile([name, content]: [string, unknown]): boolean {
  return FILE_NAME.test(name) && content instanceof Uint8Array && content.length <= MAX_FILE_BYTES;
}
