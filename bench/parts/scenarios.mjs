import { PAYLOADS } from './payloads.mjs';
import { SYSTEMS } from './systems.mjs';

const CONNECTIONS = [32, 256];
const MANY_MODULES = 1000;
const MANY_ROUTES = 10_000;
// With 32 connections and this pause on average a host of 50 µs a request is about half busy.
const HALF_LOAD_THINK_MS = 3;

const [GET_SMALL] = PAYLOADS;

// Long responses as they are streamed, which a module has to ask for with `limits.hold_bytes`.
const HOLD_BYTES = 262_144;
const MIB = 1024 * 1024;

// In brief: what the targets name.
const BRIEF_SYSTEMS = ['modgate', 'fastify-http-proxy', 'bare', 'nginx'];

/**
 * All payloads against all systems; then what half a load, modules, routes and a JWT cost.
 * @param {boolean} isBrief all systems with the first payload only, and many connections with that alone
 * @returns {readonly import('./measure-scenario.mjs').Scenario[]}
 */
export function listScenarios(isBrief) {
  const systems = SYSTEMS.filter(({ isAvailable }) => isAvailable());
  const only = (...names) => systems.filter(({ name }) => names.includes(name));
  const [few] = CONNECTIONS;
  const payloadsAt = (connections) => {
    if (connections === few) return PAYLOADS;
    return isBrief ? [GET_SMALL] : PAYLOADS.filter((payload) => !isOnlyStreamed(payload));
  };
  const sides = CONNECTIONS.flatMap((connections) =>
    payloadsAt(connections).map((payload) => ({
      name: `${payload.name}, ${connections} connections`,
      payload,
      connections,
      systems: systemsFor(payload),
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
      name: 'GET 100 B, what size and JWT cost',
      systems: [
        ...only('modgate'),
        withMore('modgate-1000-modules', { modules: MANY_MODULES }),
        withMore('modgate-1000-modules-in-turn', { modules: MANY_MODULES }, { spread: MANY_MODULES }),
        withMore('modgate-10000-routes', { routes: MANY_ROUTES }),
        withMore('modgate-jwt', { hasIssuedToken: true }),
        { ...withMore('modgate-raw', { mode: 'raw' }), isEnveloped: false },
      ],
    },
    ...sides.slice(1),
  ];

  function systemsFor(payload) {
    if (isOnlyStreamed(payload)) return [streamed(), ...only(...BRIEF_SYSTEMS.slice(1))];
    const all = isBrief && payload !== GET_SMALL ? only(...BRIEF_SYSTEMS) : systems;
    return payload.answer.length < MIB ? all : [streamed(), ...all];
  }

  function streamed() {
    return withMore('modgate-streamed', { holdBytes: HOLD_BYTES });
  }

  /** Another modgate; `load` is what is otherwise done to it. */
  function withMore(name, more, load = {}) {
    const [modgate] = only('modgate');
    const start = async (context) => ({ ...(await modgate.start({ ...context, ...more })), ...load });
    return { ...modgate, name, start };
  }
}

/** Whether a module has to stream it: it is not JSON, or longer than a response may be by default. */
function isOnlyStreamed({ answer, type }) {
  return type !== undefined || answer.length > 4 * MIB;
}
