import { expect, it } from 'vitest'
import { HeaderBlocks } from './header-blocks.ts'

/** Blocks of one connection, as moby/spdystream 0.5.1 writes them. */
const BLOCKS = [
  '78f9e3c6a7c202253a703a2b294a4dcc851625aca9a0808614cb45e01c60616061c0c0c0c0590489c64c50f2663400000000ffff',
  'c2aa19540e2512d60b000000ffff',
]

it('blocks of headers are read one after the other, and written without headers', async () => {
  const blocks = new HeaderBlocks()
  const read = []
  for (const block of BLOCKS) read.push(Object.fromEntries(await blocks.read(Buffer.from(block, 'hex'))))
  expect(read).toEqual([
    { streamtype: 'error', port: '8080', requestid: '0' },
    { streamtype: 'data', port: '8080', requestid: '0' },
  ])
  const [first, second] = [await blocks.empty(), await blocks.empty()]
  // The first one begins the stream of zlib, with the dictionary's checksum (RFC 1950 section 2.2).
  expect(first.subarray(0, 6).toString('hex')).toBe('78bbe3c6a7c2')
  expect(second.subarray(0, 2)).not.toEqual(first.subarray(0, 2))
})

it('a block that is none is an error', async () => {
  await expect(new HeaderBlocks().read(Buffer.from('no block'))).rejects.toThrow()
})
