import { createRequire, isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ErrorDetail } from '../../errors.js';
import { forEachInSlices } from '../../lib/slices.js';
import type { InspectedDescriptor } from './inspect-release.js';

const CODE = /\.[cm]?js$/;
/** Different imports of all files together. Bundled code has few. */
const MAX_IMPORTS = 10_000;
const MAX_PROBLEMS = 100;
const RELATIVE = /^\.\.?\//;
/** `file:`, `data:` and absolute paths: whether their targets exist depends on each host. */
const OF_THE_HOST = /^(?:\/|[a-z][a-z0-9+.-]*:)/i;

/**
 * Parses modules with the parser of Node.js and runs none of them. A file that is not a module has
 * no imports.
 */
const PARSER = `
  const { readFileSync } = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  const { SourceTextModule } = require('node:vm');
  const { files, max } = workerData;
  const listImports = (file) => {
    try {
      const { moduleRequests, dependencySpecifiers } = new SourceTextModule(readFileSync(file, 'utf8'));
      return moduleRequests?.map(({ specifier }) => specifier) ?? dependencySpecifiers;
    } catch {
      return [];
    }
  };
  let count = 0;
  const imports = files.map((file) => {
    if (count > max) return [];
    const names = [...new Set(listImports(file))];
    count += names.length;
    return names;
  });
  parentPort.postMessage(count > max ? null : imports);
`;
const PARSER_FLAGS = ['--experimental-vm-modules', '--no-warnings'];

/** Kinds that run code, and what their author can do about an import of another file. */
const REMEDIES: Readonly<Record<string, string>> = {
  local: 'bundle the code into one file',
  process: 'bundle the code into one file, or list the imported one in watch',
};

/**
 * Finds imports of `local` and `process` modules that a release does not contain: on every host the module would
 * fail. Finds `import … from` and `export … from`, but not `import()` and `require`.
 * @param folder with the files
 */
export async function findImportProblems(
  folder: string,
  descriptors: readonly InspectedDescriptor[],
): Promise<readonly ErrorDetail[]> {
  const code = descriptors
    .filter(({ descriptor }) => Object.hasOwn(REMEDIES, descriptor.provider.kind))
    .flatMap((inspected) =>
      inspected.files.filter((path) => CODE.test(path)).map((path) => ({ inspected, path })),
    );
  if (code.length === 0) return [];
  const paths = [...new Set(code.map(({ path }) => path))];
  const imports = await listImports(paths.map((path) => join(folder, path)));
  if (imports === null) {
    return [{ field: 'files', reason: `the code imports more than ${MAX_IMPORTS} others` }];
  }
  const importsOf = new Map(paths.map((path, index) => [path, imports[index] ?? []]));
  const problems: ErrorDetail[] = [];
  for (const { inspected, path } of code) {
    await forEachInSlices(importsOf.get(path) ?? [], (specifier) => {
      if (problems.length === MAX_PROBLEMS) return;
      const problem = findProblem(join(folder, path), path, specifier, inspected.files);
      const remedy = REMEDIES[inspected.descriptor.provider.kind];
      const reason = `its file '${path}' imports '${specifier}', which ${problem}: ${remedy}`;
      if (problem !== null) problems.push({ field: inspected.entry.file, reason });
    });
  }
  return problems;
}

function findProblem(
  file: string,
  path: string,
  specifier: string,
  namedFiles: readonly string[],
): string | null {
  if (RELATIVE.test(specifier)) {
    const imported = posix.join(posix.dirname(path), specifier);
    if (namedFiles.includes(imported)) return null;
    return 'the release does not hold';
  }
  if (isBuiltin(specifier) || OF_THE_HOST.test(specifier)) return null;
  return isInstalled(file, specifier) ? null : 'this host does not find';
}

function isInstalled(file: string, specifier: string): boolean {
  try {
    createRequire(file).resolve(specifier);
    return true;
  } catch (error) {
    // The package exists, for `import` alone.
    return (error as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
}

/** @returns the imports of each file; `null` for too many */
function listImports(files: readonly string[]): Promise<readonly (readonly string[])[] | null> {
  return new Promise((resolve, reject) => {
    const workerData = { files, max: MAX_IMPORTS };
    const worker = new Worker(PARSER, { eval: true, execArgv: PARSER_FLAGS, workerData });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('imports cannot be listed')));
  });
}
