/** A descriptor of kind `mcp` with a route for each tool, named `tools` unless `others` has a name. */
export function describeTools(
  config: object,
  tools: readonly string[],
  others: { readonly module?: string; readonly [member: string]: unknown } = {},
) {
  const { module = 'tools' } = others;
  return {
    apiVersion: 'modgate/v1',
    module,
    provider: { kind: 'mcp', config },
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: module,
        capabilities: ['tools.use'],
        http_routes: tools.map((name) => ({
          method: 'POST',
          path: `/tools/${name}`,
          capability: 'tools.use',
        })),
      },
    },
    ...others,
  };
}
