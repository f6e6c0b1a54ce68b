import { get, type IncomingMessage } from 'node:http'
import { LongList, WrittenAnswer } from '@spout/runtime'
import fc from 'fast-check'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { listPieces, sendAsWritten, sendDocument, sendList } from './long-answer.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const textOf = async (pieces: AsyncIterable<string>): Promise<string> => {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

test('the pieces are the JSON of the whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.string(), fc.string({ maxLength: 20_000 }))),
      fc.dictionary(fc.constantFrom('revision', 'next'), fc.string()),
      async (items, rest) => {
        const text = await textOf(listPieces(items, (item) => item, rest, turn))
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ items, ...rest })))
      },
    ),
    { numRuns: 50 },
  )
})

const large = Array.from({ length: 4000 }, (_, index) => ({ id: index, text: 'x'.repeat(5000) }))

test('a long list is made as its reader takes it, and others have turns meanwhile', async () => {
  let shown = 0
  const show = (object: object) => {
    shown++
    return object
  }
  const app = fastify()
  app.get('/', (_request, reply) => sendList(reply, turn, large, show, { revision: 'r' }))
  app.get('/short', (_request, reply) => sendList(reply, turn, large.slice(0, 2), show, { revision: 'r' }))
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  try {
    // The client does not read, and the sockets' buffers hold far less than the whole answer.
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(address, { agent: false }, resolve).on('error', reject)
    })
    response.pause()
    expect(await (await fetch(`${address}/short`)).json()).toMatchObject({ items: [{ id: 0 }, { id: 1 }] })
    expect(shown).toBeGreaterThan(0)
    expect(shown).toBeLessThan(large.length)
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const all = JSON.parse(Buffer.concat(chunks).toString()) as { items: unknown[]; revision: string }
    expect(all.items).toHaveLength(large.length)
    expect(all.revision).toBe('r')
  } finally {
    app.server.closeAllConnections()
    await app.close()
  }
})

test('a long document is made in pieces, with the same content', async () => {
  const members = Array.from({ length: 10_000 }, (_, index) => ({ id: `${index}`, name: 'a member of many' }))
  const long = { name: 'web', pools: [{ members }], absent: undefined }
  let turns = 0
  const counted = () => {
    turns++
    return turn()
  }
  const app = fastify()
  app.get('/', (_request, reply) => sendDocument(reply, counted, long))
  const { body, headers } = await app.inject('/')
  expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(long)))
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(turns).toBeGreaterThan(2)
  await app.close()
})

test('a list of a hundred objects is sent at once, a longer one in pieces', async () => {
  let turns = 0
  const counted = () => {
    turns++
    return turn()
  }
  const app = fastify()
  app.get<{ Querystring: { count: string } }>('/', (request, reply) => {
    const objects = Array.from({ length: Number(request.query.count) }, (_, index) => ({
      id: index,
      text: 'x'.repeat(900),
    }))
    return sendAsWritten(reply, counted, { objects: LongList.of(objects, (object) => object), links: [] })
  })
  const answer = async (count: number) => {
    const { body, headers } = await app.inject(`/?count=${count}`)
    const { objects, links } = JSON.parse(body) as { objects: { id: number }[]; links: unknown }
    expect(objects.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, index) => index))
    expect(links).toEqual([])
    return { turns, length: headers['content-length'] }
  }
  expect(await answer(100)).toEqual({ turns: 0, length: expect.stringMatching(/^9\d{4}$/) })
  const long = await answer(1000)
  expect(long.length).toBeUndefined()
  expect(long.turns).toBeGreaterThan(5)
  await app.close()
})

test.each(['text', 'bytes'])('an answer that was written before is sent as it is: %s', async (form) => {
  const text = JSON.stringify({ things: [{ name: 'é'.repeat(200_000) }] })
  const answer = new WrittenAnswer(form === 'text' ? text : Buffer.from(text))
  const app = fastify()
  app.get('/', (_request, reply) => sendAsWritten(reply, turn, answer))
  const { body, headers } = await app.inject('/')
  expect(body).toBe(text)
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(headers['content-length']).toBe(String(Buffer.byteLength(text)))
  expect(JSON.stringify({ answer })).toBe(`{"answer":${text}}`)
  await app.close()
})
