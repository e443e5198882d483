import { createRequire, isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ErrorDetail } from '../../errors.js';
import type { InspectedDescriptor } from './inspect-release.js';
import type { ReleaseFiles } from './release-files.js';

const CODE = /\.[cm]?js$/;
const RELATIVE = /^\.\.?\//;
/** `file:`, `data:` and absolute paths: whether their targets exist depends on each host. */
const OF_THE_HOST = /^(?:\/|[a-z][a-z0-9+.-]*:)/i;

/**
 * Parses modules with the parser of Node.js and runs none of them. A file that is not a module has
 * no imports.
 */
const PARSER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { SourceTextModule } = require('node:vm');
  const listImports = (source) => {
    try {
      const { moduleRequests, dependencySpecifiers } = new SourceTextModule(source);
      return moduleRequests?.map(({ specifier }) => specifier) ?? dependencySpecifiers;
    } catch {
      return [];
    }
  };
  parentPort.postMessage(workerData.map(listImports));
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
  files: ReleaseFiles,
  descriptors: readonly InspectedDescriptor[],
): Promise<readonly ErrorDetail[]> {
  const code = descriptors
    .filter(({ descriptor }) => Object.hasOwn(REMEDIES, descriptor.provider.kind))
    .flatMap((inspected) =>
      inspected.files.filter((path) => CODE.test(path)).map((path) => ({ inspected, path })),
    );
  if (code.length === 0) return [];
  const imports = await listImports(code.map(({ path }) => files.get(path)?.toString() ?? ''));
  return code.flatMap(({ inspected, path }, index) =>
    (imports[index] ?? []).flatMap((specifier) => {
      const problem = findProblem(join(folder, path), path, specifier, inspected.files);
      const remedy = REMEDIES[inspected.descriptor.provider.kind];
      const reason = `its file '${path}' imports '${specifier}', which ${problem}: ${remedy}`;
      return problem === null ? [] : [{ field: inspected.entry.file, reason }];
    }),
  );
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

function listImports(sources: readonly string[]): Promise<readonly (readonly string[])[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(PARSER, { eval: true, execArgv: PARSER_FLAGS, workerData: sources });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('imports cannot be listed')));
  });
}
