import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createWorkplace, type Workplace } from '../cli/run-in.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

const FIXTURE = fileURLToPath(new URL('../../../../test/support/typed-client/', import.meta.url));

/** The part of the compiler's interface that is used: its types are those of another version. */
interface Compiler {
  readonly version: string;
  createProgram(files: readonly string[], options: object, host: CompilerHost): unknown;
  createCompilerHost(options: object): CompilerHost;
  getPreEmitDiagnostics(program: unknown): readonly Diagnostic[];
  flattenDiagnosticMessageText(text: unknown, newLine: string): string;
  transpileModule(text: string, options: object): { readonly outputText: string };
  readonly ModuleKind: Readonly<Record<string, number>>;
  readonly ModuleResolutionKind: Readonly<Record<string, number>>;
  readonly ScriptTarget: Readonly<Record<string, number>>;
}

interface CompilerHost {
  getSourceFile(fileName: string, ...more: unknown[]): unknown;
}

interface Diagnostic {
  readonly messageText: unknown;
  readonly start?: number;
  readonly file?: {
    readonly fileName: string;
    getLineAndCharacterOfPosition(start: number): { readonly line: number };
  };
}

/** The oldest TypeScript that clients support. */
function loadCompiler(): Compiler {
  return createRequire(join(FIXTURE, 'package.json'))('typescript') as Compiler;
}

interface CompileOptions {
  readonly lib: readonly string[];
  readonly types: readonly string[];
}

/** Source files by path. The libraries are the same for each program and take most of its time. */
const parsedLibraries = new Map<string, unknown>();

function createHost(ts: Compiler, options: object): CompilerHost {
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (fileName, ...more) => {
    if (!/\/lib\.[^/]*\.d\.ts$/.test(fileName)) return parse(fileName, ...more);
    const parsed = parsedLibraries.get(fileName) ?? parse(fileName, ...more);
    parsedLibraries.set(fileName, parsed);
    return parsed;
  };
  return host;
}

/** The errors of strict TypeScript in these files. */
export function compile(files: readonly string[], { lib, types }: CompileOptions): string[] {
  const ts = loadCompiler();
  const options = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    noImplicitReturns: true,
    noPropertyAccessFromIndexSignature: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    skipLibCheck: true,
    target: ts.ScriptTarget['ES2022'],
    module: ts.ModuleKind['ESNext'],
    moduleResolution: ts.ModuleResolutionKind['Bundler'],
    lib: lib.map((name) => `lib.${name}.d.ts`),
    types,
    typeRoots: [fileURLToPath(new URL('../../../../node_modules/@types', import.meta.url))],
  };
  const program = ts.createProgram(files, options, createHost(ts, options));
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ');
    const line = diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line ?? -1;
    return `${diagnostic.file?.fileName ?? ''}:${line + 1} ${message}`;
  });
}

/** Imports a file of TypeScript, through a file of JavaScript beside it. */
export async function importTypeScript(file: string) {
  const ts = loadCompiler();
  const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), {
    compilerOptions: { target: ts.ScriptTarget['ES2022'], module: ts.ModuleKind['ESNext'] },
  });
  const script = file.replace(/\.ts$/, '.mjs');
  writeFileSync(script, outputText);
  return import(pathToFileURL(script).href);
}

/** A folder in which types of clients can be written, and files that use them compile. */
export function createClientPlace(): Workplace {
  const place = createWorkplace();
  const link = (name: string, target: string) => {
    const path = join(place.folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path, 'junction');
  };
  link('modgate', ROOT);
  const packages = ['openapi-fetch', 'openapi-typescript-helpers', 'openapi-typescript'];
  for (const name of [...packages, 'typescript']) link(name, findPackage(name));
  return place;
}

/** The folder of a package as the fixture finds it. */
function findPackage(name: string): string {
  const folders = [FIXTURE, ROOT].map((folder) => join(folder, 'node_modules', name));
  return folders.find((folder) => existsSync(folder)) ?? name;
}
