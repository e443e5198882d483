import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { expect } from 'chai';
import { digestTool } from '../../../plugins/mcp-client/tool-watch.js';

const TOOL = { name: 'find', description: 'Finds notes.', inputSchema: { type: 'object' } };

describe('digestTool', () => {
  it('is the digest of the canonical form, without members that are absent', () => {
    const digest = createHash('sha256')
      .update(String(canonicalize(TOOL)))
      .digest('hex');
    expect(digestTool({ ...TOOL, title: undefined })).to.equal(`sha256:${digest}`);
  });

  it('accepts half of a surrogate pair, so that other tools stay listed', () => {
    const digests = ['\ud800', '\ud801'].map((description) => digestTool({ ...TOOL, description }));
    expect(new Set(digests).size).to.equal(2);
  });
});
