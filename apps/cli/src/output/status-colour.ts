import { styleText } from 'node:util'

const COLOURS: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  active: 'green',
  up: 'green',
  connected: 'green',
  programmed: 'green',
  announced: 'green',
  established: 'green',
  true: 'green',
  yes: 'green',
  partly: 'yellow',
  no: 'red',
  pending: 'yellow',
  disconnected: 'yellow',
  waiting: 'yellow',
  unknown: 'yellow',
  draining: 'yellow',
  cordoned: 'yellow',
  'not-announced': 'red',
  'two-owners': 'red',
  error: 'red',
  down: 'red',
  failed: 'red',
  never: 'red',
}

/** Colours a status word; other text stays as it is. */
export const colourStatus = (text: string, colour: boolean): string => {
  const name = COLOURS[text]
  return colour && name ? styleText(name, text) : text
}
