/** A descriptor whose one route reads the resources of an MCP server, with further members. */
export function describeLibrary(url: string, others: object): object {
  return {
    apiVersion: 'modgate/v1',
    module: 'library',
    provider: { kind: 'mcp', config: { url } },
    provider_errors: 'passthrough',
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: 'library',
        capabilities: ['library.read'],
        http_routes: [
          {
            method: 'GET',
            path: '/resources/{uri}',
            capability: 'library.read',
            operation: { encoded: ['uri'], response: 'bytes' },
          },
        ],
      },
    },
    ...others,
  };
}
