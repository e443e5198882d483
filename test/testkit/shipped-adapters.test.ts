import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readPlugins } from '../../core/plugin-loader/plugin-registry.js';
import { HAS_NATS_SERVER, HAS_RABBITMQ, SHIPPED } from '../support/testkit/shipped-subjects.js';

const PLUGINS = fileURLToPath(new URL('../../plugins', import.meta.url));

describe('shipped adapters', () => {
  it('have a subject for the test kit', async function () {
    // Without their servers these adapters cannot be tested.
    if (!HAS_NATS_SERVER || !HAS_RABBITMQ) this.skip();
    expect(readdirSync(PLUGINS)).to.include('http');
    const registry = await readPlugins([PLUGINS]);
    const kinds = [...new Set(SHIPPED.map(({ adapter }) => adapter.kind))];
    expect(kinds.toSorted()).to.deep.equal(registry.kinds().toSorted());
  });
});
