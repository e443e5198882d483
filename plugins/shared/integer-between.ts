import { define, type Struct } from 'superstruct';
import { described } from '../../core/contract/index.js';

/** An integer of a config, with both bounds included; errors and JSON Schema name them. */
export function integerBetween(min: number, max: number): Struct<number, null> {
  return described(
    define<number>(
      `integer between ${min} and ${max}`,
      (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
    ),
    { type: 'integer', minimum: min, maximum: max },
  );
}
