import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { BodyTooLong, bodyText } from './body-text.ts'

const pieces = () => Readable.from([Buffer.from('gr'), Buffer.from([0xc3]), Buffer.from([0xbc, 0x6e])])

it('reads pieces as one text, also where they part a character, and tells their sizes', async () => {
  const sizes: number[] = []
  expect(await bodyText(pieces(), { mostBytes: 5, onBytes: (bytes) => sizes.push(bytes) })).toBe('grün')
  expect(sizes).toEqual([2, 1, 2])
})

it('ends a body that is too long', async () => {
  const body = pieces()
  await expect(bodyText(body, { mostBytes: 4 })).rejects.toThrow(new BodyTooLong(4))
  expect(body.destroyed).toBe(true)
})
