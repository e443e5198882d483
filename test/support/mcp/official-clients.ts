import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const OWN = { name: 'test', version: '1' };

const credentials = (as: string) => ({
  requestInit: { headers: { authorization: `Bearer ${as}` } },
});

/** Connects the official library 2.x. */
export async function connectClient(
  url: string,
  as: string,
  {
    mode = 'auto',
    onChanged,
    revision,
  }: { mode?: 'auto' | 'legacy'; onChanged?: () => void; revision?: string } = {},
): Promise<Client> {
  const listChanged = onChanged && { tools: { onChanged } };
  const options = {
    versionNegotiation: { mode },
    ...(listChanged && { listChanged }),
    ...(revision && { supportedProtocolVersions: [revision] }),
  };
  const client = new Client(OWN, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), credentials(as)));
  return client;
}

/** Connects the official library 1.x. */
export async function connectFirstClient(url: string, as: string): Promise<FirstClient> {
  const client = new FirstClient(OWN);
  const transport = new FirstTransport(new URL(url), credentials(as));
  // Its declaration of `sessionId` predates exact optional types.
  await client.connect(transport as Parameters<FirstClient['connect']>[0]);
  return client;
}
