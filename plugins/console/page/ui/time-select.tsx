interface TimeSelectProps {
  readonly label: string;
  /** ISO 8601, or empty for no time. */
  readonly value: string;
  /** Called with a time of this form. */
  readonly onSelect: (time: string) => void;
}

/** Chooses a time of the zone of the browser. */
export function TimeSelect({ label, value, onSelect }: TimeSelectProps) {
  const time = new Date(value);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return (
    <label class="inline">
      {label}{' '}
      <input
        type="datetime-local"
        value={Number.isNaN(time.getTime()) ? '' : local.toISOString().slice(0, 16)}
        onChange={({ currentTarget: { value: text } }) =>
          onSelect(text === '' ? '' : new Date(text).toISOString())
        }
      />
    </label>
  );
}
