export interface StreamEvent {
  readonly name: string
  readonly data: string
}

/** Splits a stream of server-sent events (WHATWG HTML, section 9.2.6) as its text arrives. Comments give no event. */
export class EventSplitter {
  #rest = ''

  push(text: string): readonly StreamEvent[] {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.flatMap(eventOf)
  }
}

function eventOf(block: string): readonly StreamEvent[] {
  let name = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [field, value = ''] = fieldOf(line)
    if (field === 'event') name = value
    if (field === 'data') data.push(value)
  }
  return data.length === 0 ? [] : [{ name, data: data.join('\n') }]
}

function fieldOf(line: string): readonly [string, string?] {
  const colon = line.indexOf(':')
  return colon < 0 ? [line] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}
