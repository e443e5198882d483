/** The descriptor of a module with a route that reads and one that writes. */
export function describeShop(endpoint: string, module = 'shop'): object {
  return {
    module,
    owner: { name: 'shop team' },
    provider: { kind: 'http', config: { endpoints: [endpoint] } },
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: module,
        capabilities: ['shop.read', 'shop.write'],
        http_routes: [
          { method: 'GET', path: '/items/{id}', capability: 'shop.read' },
          { method: 'POST', path: '/items', capability: 'shop.write' },
        ],
      },
    },
  };
}
