import { describe, expect, it } from 'vitest'
import { NO_QUESTION, partsOfUrl, questionOf, requestOf, searchOf, urlHint, wrongIn } from './question.ts'

describe('a question in the URL', () => {
  it('is read back as it was written, without what is as usual', () => {
    const question = { ...NO_QUESTION, address: '198.51.100.16', port: '443', host: 'shop.example.com' }
    expect(searchOf(question)).toEqual({ address: '198.51.100.16', port: '443', host: 'shop.example.com' })
    expect(questionOf(searchOf(question))).toEqual(question)
    expect(searchOf(NO_QUESTION)).toEqual({})
  })

  it('is whole whatever the parameters are', () => {
    expect(questionOf({ port: 8080, transport: 'icmp', host: ['a'], path: null })).toEqual({
      ...NO_QUESTION,
      port: '8080',
    })
  })
})

describe('an address that is pasted', () => {
  it('gives name, port, path and query', () => {
    const parts = { host: 'shop.example.com', port: '443', transport: 'tcp', path: '/cart?a=1' }
    expect(partsOfUrl(' https://shop.example.com/cart?a=1#top ')).toEqual(parts)
    expect(partsOfUrl('http://shop.example.com:8080')).toMatchObject({
      host: 'shop.example.com:8080',
      port: '8080',
      path: '/',
    })
  })

  it('gives the address, too, if that is in it', () => {
    expect(partsOfUrl('http://198.51.100.16/')).toMatchObject({ address: '198.51.100.16', host: '198.51.100.16' })
    expect(partsOfUrl('http://[2001:db8::1]:81/')).toMatchObject({ address: '2001:db8::1', port: '81' })
  })

  it('is nothing if it is no address of the web', () => {
    for (const text of ['shop.example.com', 'ftp://a/', '', 'javascript:alert(1)']) expect(partsOfUrl(text)).toBeNull()
  })
})

describe('what is wrong', () => {
  it('is said at its field', () => {
    expect(wrongIn({ ...NO_QUESTION, address: '198.51.100.16' })).toEqual({})
    const wrong = wrongIn({ ...NO_QUESTION, address: '010.0.0.1', port: '0', source: 'me', path: 'cart', headers: 'a' })
    expect(Object.keys(wrong)).toEqual(['address', 'port', 'source', 'path', 'headers'])
  })
})

describe('the request of a question', () => {
  it('has path and query apart, and headers by name', () => {
    const request = requestOf({
      ...NO_QUESTION,
      method: 'post',
      path: '/a?b=1?c',
      headers: 'X-A: 1\n\nCookie: a=b:c',
      source: '10.0.0.1',
    })
    expect(request).toEqual({
      method: 'POST',
      host: null,
      path: '/a',
      query: 'b=1?c',
      headers: [
        ['X-A', '1'],
        ['Cookie', 'a=b:c'],
      ],
      source: '10.0.0.1',
      client: null,
    })
  })
})

it('says of an address that fills in nothing that it does not', () => {
  for (const text of ['', 'https://shop.example.com/cart']) expect(urlHint(text)).toBe('Fills in the fields below.')
  for (const text of ['ftp://x', 'shop.example.com', 'http://']) expect(urlHint(text)).toMatch(/^Fills in nothing yet/)
})
