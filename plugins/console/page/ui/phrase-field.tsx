interface PhraseFieldProps {
  readonly phrase: string;
  readonly text: string;
  readonly onText: (text: string) => void;
}

/** A phrase of the manifest that a person types to confirm. */
export function PhraseField({ phrase, text, onText }: PhraseFieldProps) {
  return (
    <label>
      <span>
        Type <code>{phrase}</code> to confirm
      </span>
      <input
        autocomplete="off"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </label>
  );
}
