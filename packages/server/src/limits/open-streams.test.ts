import type { SpoutError } from '@spout/model'
import { expect, test } from 'vitest'
import { OpenStreams } from './open-streams.ts'

const codeOf = (open: () => unknown): string => {
  try {
    open()
  } catch (error) {
    return (error as SpoutError).code
  }
  return 'opened'
}

test('open watches per project are limited; a closed one makes room, and other projects have their own', () => {
  const streams = new OpenStreams({ mostOfProject: 2, mostBytesOfProject: 100 })
  const first = streams.open('a')
  streams.open('a')
  expect(codeOf(() => streams.open('a'))).toBe('TooManyRequests')
  expect(codeOf(() => streams.open('b'))).toBe('opened')
  first.close()
  expect(codeOf(() => streams.open('a'))).toBe('opened')
})

test("bytes buffered for a project's readers are summed; a closed reader no longer counts", () => {
  const streams = new OpenStreams({ mostOfProject: 5, mostBytesOfProject: 100 })
  const [slow, other, stranger] = [streams.open('a'), streams.open('a'), streams.open('b')]
  expect(slow.holds(80)).toBe(true)
  expect(other.holds(30)).toBe(false)
  expect(stranger.holds(90)).toBe(true)
  slow.close()
  expect(other.holds(30)).toBe(true)
  expect(slow.holds(1)).toBe(false)
})

test('sent bytes are charged to the project', () => {
  const sent: string[] = []
  const streams = new OpenStreams({ mostOfProject: 1, mostBytesOfProject: 1 }, (project, bytes) =>
    sent.push(`${project} ${bytes}`),
  )
  streams.open('a').sent(7)
  expect(sent).toEqual(['a 7'])
})
