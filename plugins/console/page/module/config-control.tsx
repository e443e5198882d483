import { formatJson, parseJson, parseNumber } from '../exact-json.js';
import type { ConfigType } from '../types.js';
import { TextField } from '../ui/text-field.js';

interface ConfigControlProps {
  readonly id: string;
  readonly type: ConfigType;
  readonly isSecret: boolean;
  readonly text: string;
  readonly onText: (text: string) => void;
}

export function ConfigControl({ id, type, isSecret, text, onText }: ConfigControlProps) {
  const onInput = (event: { currentTarget: { value: string } }) =>
    onText(event.currentTarget.value);
  const common = { id, value: text, 'aria-describedby': `${id}-help` };
  switch (type.kind) {
    case 'bool':
      return (
        <select {...common} onChange={onInput}>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      );
    case 'enum':
      return (
        <select {...common} onChange={onInput}>
          {type.values.map((value) => (
            <option key={value}>{value}</option>
          ))}
        </select>
      );
    case 'int':
    case 'float':
      return (
        <input
          {...common}
          inputMode={type.kind === 'int' ? 'numeric' : 'decimal'}
          onInput={onInput}
        />
      );
    case 'json':
      return <textarea {...common} rows={4} onInput={onInput} />;
    default:
      return (
        <TextField
          id={id}
          aria-describedby={`${id}-help`}
          isSecret={isSecret}
          text={text}
          onText={onText}
        />
      );
  }
}

const TYPE_TEXT = { bool: 'yes or no', string: 'text', json: 'JSON', enum: 'one of a list' };

export function describeType(type: ConfigType): string {
  if (type.kind !== 'int' && type.kind !== 'float') return TYPE_TEXT[type.kind];
  const { kind, min, max } = type;
  const name = kind === 'int' ? 'whole number' : 'number';
  if (min !== undefined && max !== undefined) return `${name} from ${min} to ${max}`;
  if (min !== undefined) return `${name} from ${min}`;
  return max === undefined ? name : `${name} up to ${max}`;
}

export function toText(value: unknown, { kind }: ConfigType): string {
  if (value === null || value === undefined) return '';
  return kind === 'json' ? formatJson(value, 2) : String(value);
}

/** @throws Error with the expected format. The host also validates the value. */
export function toValue(text: string, { kind }: ConfigType): unknown {
  if (kind === 'bool') return text === 'true';
  if (kind === 'json') {
    try {
      return parseJson(text);
    } catch {
      throw new Error('expected JSON');
    }
  }
  if (kind === 'int' || kind === 'float') {
    return parseNumber(text);
  }
  return text;
}
