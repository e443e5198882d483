import { PAYLOADS } from './payloads.mjs';
import { SYSTEMS } from './systems.mjs';

const CONNECTIONS = [32, 256];
const MANY_MODULES = 1000;
const MANY_ROUTES = 10_000;
// With 32 connections and this pause on average a host of 200 µs a request is about half busy.
const HALF_LOAD_THINK_MS = 10;

const [GET_SMALL] = PAYLOADS;

/**
 * All payloads against all systems; then what modules, routes and half a load cost.
 * @returns {readonly import('./measure-scenario.mjs').Scenario[]}
 */
export function listScenarios() {
  const systems = SYSTEMS.filter(({ isAvailable }) => isAvailable());
  const only = (...names) => systems.filter(({ name }) => names.includes(name));
  const sides = CONNECTIONS.flatMap((connections) =>
    PAYLOADS.map((payload) => ({
      name: `${payload.name}, ${connections} connections`,
      payload,
      connections,
      systems,
    })),
  );
  const small = { payload: GET_SMALL, connections: 32 };
  return [
    ...sides.slice(0, 1),
    {
      ...small,
      name: 'GET 100 B, half a load',
      thinkMs: HALF_LOAD_THINK_MS,
      systems: only('modgate', 'fastify-http-proxy', 'bare'),
    },
    {
      ...small,
      name: 'GET 100 B, what size costs',
      systems: [
        ...only('modgate'),
        withSize('modgate-1000-modules', { modules: MANY_MODULES }),
        withSize('modgate-10000-routes', { routes: MANY_ROUTES }),
      ],
    },
    ...sides.slice(1),
  ];

  function withSize(name, size) {
    const [modgate] = only('modgate');
    return { ...modgate, name, start: (context) => modgate.start({ ...context, ...size }) };
  }
}
