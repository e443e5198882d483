import type { JsonSchema, RouteExample } from '../contract/index.js';
import type { DescribedModule, DescribedRoute } from './described-module.js';
import { jsonText, writeExamples } from './json-text.js';

export type DataSchema = JsonSchema | null | undefined;

/**
 * The responses with the data of the provider: 200 in the envelope, any status in raw mode. Members as JSON text.
 * @param writeSchema embeds the schema of a part of the route
 */
export function writeData(
  module: DescribedModule,
  route: DescribedRoute,
  writeSchema: (schema: DataSchema, part: string) => string,
): string {
  const { output_schema: output, examples } = route.value.declared.operation ?? {};
  const data = writeSchema(output, 'output');
  if (module.descriptor.responses.mode === 'raw') {
    const shown = writeExamples(examples, ({ output: value }) => value);
    const response = `{"description":"The provider's response",${content(`${data}${shown}`)}}`;
    return `"200":${response},"304":{"description":"Not modified"},"2XX":${response},"default":${ANY}`;
  }
  const shown = writeExamples(examples, (example) => showEnvelope(module, route, example));
  const schema = writeEnvelope(module, route, data);
  return `"200":{"description":"The provider's data",${content(`${schema}${shown}`)}}`;
}

function content(schema: string): string {
  return `"content":{"application/json":{"schema":${schema}}}`;
}

const ANY = `{"description":"The provider's own response",${content('{}')}}`;

const ENVELOPE_HEAD = jsonText({
  type: 'object',
  required: [
    ...['status', 'module_name', 'method', 'declared_path'],
    ...['provider_path', 'capability', 'path_params', 'data'],
  ],
}).slice(0, -1);

/** @param data its schema, as JSON text */
function writeEnvelope(
  { name }: DescribedModule,
  { value, template }: DescribedRoute,
  data: string,
): string {
  const names = template.segments.flatMap((one) => (one.kind === 'literal' ? [] : [one.name]));
  const { method, declaredPath, capability } = value;
  const properties = [
    '"status":{"const":"forwarded"}',
    `"module_name":{"const":${jsonText(name)}}`,
    `"method":{"const":"${method}"}`,
    `"declared_path":{"const":${jsonText(declaredPath)}}`,
    '"provider_path":{"type":"string"}',
    `"capability":{"const":${jsonText(capability)}}`,
    `"path_params":${writeParams(names)}`,
    `"data":${data}`,
  ];
  return `${ENVELOPE_HEAD},"properties":{${properties.join(',')}},"additionalProperties":false}`;
}

function writeParams(names: readonly string[]): string {
  if (names.length === 0) return '{"type":"object","additionalProperties":false}';
  const properties = names.map((name) => `${jsonText(name)}:{"type":"string"}`).join(',');
  return `{"type":"object","required":${jsonText(names)},"properties":{${properties}},"additionalProperties":false}`;
}

/** With the name of each parameter as its value. */
function showEnvelope(
  { name }: DescribedModule,
  { value, template }: DescribedRoute,
  { output: data }: RouteExample,
): unknown {
  if (data === undefined) return undefined;
  const segments = template.segments.map((one) => (one.kind === 'literal' ? one.text : one.name));
  const params = template.segments.flatMap((one) =>
    one.kind === 'literal' ? [] : [[one.name, one.name] as const],
  );
  return {
    status: 'forwarded',
    module_name: name,
    method: value.method,
    declared_path: value.declaredPath,
    provider_path: `/${segments.join('/')}`,
    capability: value.capability,
    path_params: Object.fromEntries(params),
    data,
  };
}
