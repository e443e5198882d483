import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClientDocument } from '../../../core/cli/client-types/client-document.js';
import type { Workplace } from '../cli/run-in.js';
import { findOutside, readOutsideText } from '../outside.js';
import { compile, createClientPlace } from './compile.js';

/** A public description of an API: its file, and the document in it if that is an archive. */
export interface PublicDocument {
  readonly file: string;
  readonly entry?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a document of unknown shape
type Document = any;

/** Checks that clients of imported descriptions compile, with a call of each route. */
export function describePublicClients(documents: readonly PublicDocument[]): void {
  describe('clients of public descriptions', () => {
    let place: Workplace;

    beforeEach(() => {
      place = createClientPlace();
    });

    for (const document of documents) {
      if (findOutside(document.file) === null) {
        it(`${document.file} needs MODGATE_OUTSIDE, or ../shared/outside`);
        continue;
      }
      it(`compile with a call of each route of ${document.file}`, async () => {
        const source = unpack(document, place);
        const args = ['openapi', source, '--module', 'api', '--endpoint', 'https://api.example'];
        const imported = await place.run(['import', ...args]);
        expect(imported.code, imported.stderr).to.equal(0);
        expect(await compileClient(place)).to.deep.equal([]);
      });
    }
  });
}

/** Compiles the client of the modules of a place with a call of each route, and returns the errors. */
export async function compileClient(place: Workplace): Promise<string[]> {
  const modules = ['--modules', 'modules.d'];
  const written = await place.run(['client', ...modules, '--out', 'client.ts']);
  expect(written.code, written.stderr).to.equal(0);
  const { stdout } = await place.run(['openapi', ...modules, '--view', 'client']);
  const use = place.write('use.ts', useEachRoute(JSON.parse(stdout)));
  return compile([use], { lib: ['es2022', 'dom', 'dom.iterable'], types: [] });
}

function unpack({ file, entry }: PublicDocument, place: Workplace): string {
  if (entry === undefined) {
    const name = file.replace(/^.*\/|\.gz$/g, '');
    place.write(name, readOutsideText(file) ?? '');
    return name;
  }
  execFileSync('tar', ['xzf', findOutside(file) ?? '', '-C', place.folder]);
  expect(readFileSync(join(place.folder, entry), 'utf8')).not.to.equal('');
  return entry;
}

/** Calls each route with what it requires, and reads its data and its Problems. */
function useEachRoute(source: Document): string {
  const { document, routes } = createClientDocument(source);
  const { paths } = document as Document;
  const calls = Object.entries<Document>(paths).flatMap(([path, item]) =>
    Object.entries<Document>(item).map(([method, operation]) => {
      const init = writeInit(operation);
      return `
      async () => {
        const { data, error } = await client.${method.toUpperCase()}(${JSON.stringify(path)}${init});
        if (error === undefined) return data;
        if (error.code === 'unexpected_answer') return error.body;
        return error.code === 'not_found' ? (error.status satisfies 404) : error.errors;
      },`;
    }),
  );
  expect(calls).to.have.length(routes);
  return `import { createClient } from 'modgate/client';
    import type { paths } from './client.js';
    const client = createClient<paths>({ url: '' });
    export const calls: (() => Promise<unknown>)[] = [${calls.join('')}];`;
}

function writeInit({ parameters, requestBody, responses }: Document): string {
  const required = parameters.filter((parameter: Document) => parameter.required);
  const places = [...new Set<string>(required.map((parameter: Document) => parameter.in))];
  const params = places.map((place) => {
    const own = required.filter((parameter: Document) => parameter.in === place);
    const values = own.map(({ name }: Document) => `${JSON.stringify(name)}: '' as never`);
    return `${place}: { ${values.join(', ')} }`;
  });
  const members = [
    ...(params.length > 0 ? [`params: { ${params.join(', ')} }`] : []),
    ...(requestBody?.required ? ['body: {} as never'] : []),
    ...('*/*' in (responses[200]?.content ?? {}) ? ["parseAs: 'blob'"] : []),
  ];
  return members.length === 0 ? '' : `, { ${members.join(', ')} }`;
}
