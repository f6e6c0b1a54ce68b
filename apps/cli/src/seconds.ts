import { InvalidArgumentError } from 'commander'

/** Reads the value of an option that takes seconds. @throws InvalidArgumentError unless it is a whole number from 1 */
export function seconds(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('a whole number of seconds, 1 or more')
  return value
}
