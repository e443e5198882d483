/** Longer lines and events are truncated, so that an endless one is not kept. */
const MAX_CHARACTERS = 65_536;

/** Splits text into lines: `write` takes any pieces of it, `end` what is behind the last break. */
function createLineReader(take: (line: string) => void) {
  let rest = '';
  return {
    write(text: string): void {
      // A final \r may be the first half of \r\n.
      const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
      rest = (lines.pop() ?? '').slice(0, MAX_CHARACTERS);
      for (const line of lines) take(line);
    },
    end: () => take(rest.replace(/\r$/, '')),
  };
}

/** Joins lines to Server-Sent Events. Those with only comments are ignored: they are heartbeats. */
function createEventReader(take: (event: string) => void): (line: string) => void {
  let event: string[] = [];
  let length = 0;
  return (line) => {
    if (line === '') {
      if (event.length > 0) take(event.join('\n'));
      event = [];
      length = 0;
    } else if (!line.startsWith(':') && length < MAX_CHARACTERS) {
      event.push(line);
      length += line.length;
    }
  };
}

/**
 * Reads a stream to its end.
 * @param hasEvents whether it has Server-Sent Events, and not one value in each line
 * @param take called with each event or line when it is whole
 * @param isShown whether to read on: otherwise the connection is closed
 */
export async function readParts(
  body: ReadableStream<Uint8Array>,
  hasEvents: boolean,
  take: (part: string) => void,
  isShown: () => boolean,
): Promise<void> {
  const takeLine = hasEvents
    ? createEventReader(take)
    : (line: string) => {
        if (line !== '') take(line);
      };
  const lines = createLineReader(takeLine);
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    lines.write(decoder.decode(read.value, { stream: true }));
    if (!isShown()) return reader.cancel();
  }
  lines.end();
}
