import { expect } from 'chai';
import { readDocumentedBlocks } from '../../support/docs/documented-commands.js';
import { useHost } from '../../support/http/use-host.js';
import { compile, createClientPlace } from '../../support/typescript/compile.js';
import { describeShop } from '../../support/typescript/shop.js';

const PAGE = 'docs/call/client.md';

/** What the reader has. */
const OWN = `
declare function readToken(): string;
declare function retryAfter(seconds: string | null): void;
declare function show(text: string): void;
export type { NotFound };
`;

describe(PAGE, () => {
  const setup = useHost(describeShop);

  it('has calls that compile', async () => {
    const place = createClientPlace();
    const args = ['client', 'acme/shop', '--url', setup.host.url, '--out', 'gateway.ts'];
    const { code, stderr } = await place.run([...args, '--token', 'dev-service:ann']);
    expect(code, stderr).to.equal(0);
    const blocks = readDocumentedBlocks(PAGE).filter(({ kind }) => kind === 'ts');
    const use = place.write('use.ts', [...blocks.map(({ body }) => body), OWN].join('\n'));
    const errors = compile([use], { lib: ['es2022', 'dom'], types: [] });
    expect(errors).to.deep.equal([]);
  });
});
