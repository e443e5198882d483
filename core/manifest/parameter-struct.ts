import { any, array, boolean, enums, object, record, refine } from 'superstruct';
import { described, matching, named, optionally } from '../contract/described.js';
import { nonEmptyText } from '../document/structs.js';
import { MEDIA_TYPE_RANGE } from '../lib/media-type.js';
import { anySchema, flag, text } from './parts-struct.js';

/** Validates only the shape: `parameter-rules.ts` has the rules for the content. */
const schema = optionally(anySchema, { description: 'JSON Schema of the value.' });

const example = optionally(any(), { description: 'A value.' });

const examples = optionally(
  record(nonEmptyText(), object({ summary: text('One line.'), value: any() })),
  { type: 'object', description: 'Values by name, instead of example.' },
);

const content = described(
  refine(
    record(
      matching('a media type such as application/json', MEDIA_TYPE_RANGE),
      object({ schema, example, examples }),
    ),
    'a mapping with one media type',
    (types) => Object.keys(types).length === 1,
  ),
  { type: 'object', minProperties: 1, maxProperties: 1 },
);

const parameter = named(
  'parameter',
  described(
    object({
      name: described(nonEmptyText(), { description: 'The name in the request.' }),
      in: described(enums(['query', 'header']), {
        description: 'A header is shown where the provider gets it.',
      }),
      description: text('What the parameter means, in CommonMark.'),
      required: flag('Whether the provider needs it.'),
      deprecated: flag('Whether clients should stop sending it.'),
      allowEmptyValue: flag('Whether the value may be empty. Only of a query.'),
      allowReserved: flag('Whether reserved characters are sent as they are. Only of a query.'),
      style: optionally(
        enums(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'simple']),
        {
          description: 'How the value is written. Default: form for a query, simple for a header.',
        },
      ),
      explode: optionally(boolean(), {
        description: 'Whether members are parameters of their own. Default: true for form.',
      }),
      schema,
      content: optionally(content, {
        description: 'The value as one media type, instead of schema.',
      }),
      example,
      examples,
    }),
    { description: 'An OpenAPI parameter that is shown and not checked.' },
  ),
);

export const parameters = array(parameter);
