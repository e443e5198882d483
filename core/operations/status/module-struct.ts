import { array, boolean, type Infer, nullable, number, optional, string, type } from 'superstruct';

const until = optional(nullable(string()));

const endpointEntry = type({
  endpoint: string(),
  state: string(),
  until,
  routes: optional(array(type({ route: string(), state: string(), until }))),
});

const moduleEntry = type({
  name: nullable(string()),
  file: string(),
  state: string(),
  since: string(),
  digest: nullable(string()),
  config_digest: nullable(string()),
  // Older hosts do not have these.
  file_digest: optional(nullable(string())),
  rejected_digest: optional(nullable(string())),
  rejected_manifest_digest: optional(nullable(string())),
  rejected_config_digest: optional(nullable(string())),
  reason: nullable(string()),
  hint: nullable(string()),
  counts: type({
    calls: number(),
    failed: number(),
    in_flight: number(),
    streams: optional(number()),
  }),
  // Absent for the envelope without response headers.
  responses: optional(
    type({
      mode: string(),
      expose_headers: array(string()),
      redirects: optional(array(string())),
    }),
  ),
  // Absent if every route requires credentials.
  public: optional(boolean()),
  // Absent if clients of every address may call.
  allow: optional(type({ addresses: array(string()) })),
  mounts: optional(array(type({ host: optional(string()), path: string() }))),
  endpoints: optional(array(endpointEntry)),
  resolve_error: optional(nullable(string())),
  // Absent for a provider that says nothing about itself.
  facts: optional(array(type({ name: string(), value: string(), problem: optional(boolean()) }))),
});

/** The response to `GET /modules`, with the members that the commands use. */
export const moduleList = type({
  modules: array(moduleEntry),
  ignored: array(type({ file: string(), reason: string() })),
});

export type ListedModule = Infer<typeof moduleEntry>;
