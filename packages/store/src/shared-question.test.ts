import { expect, test } from 'vitest'
import { SharedQuestion } from './shared-question.ts'

test('each call gets an answer to a question sent after it, and those that wait share one', async () => {
  const sent: PromiseWithResolvers<string>[] = []
  const question = new SharedQuestion(() => {
    const answer = Promise.withResolvers<string>()
    sent.push(answer)
    return answer.promise
  })
  const first = question.ask()
  const waiting = [question.ask(), question.ask()]
  expect(sent).toHaveLength(1)
  sent[0]?.reject(new Error('no answer'))
  await expect(first).rejects.toThrow('no answer')
  await expect.poll(() => sent.length).toBe(2)
  const later = question.ask()
  sent[1]?.resolve('second')
  expect(await Promise.all(waiting)).toEqual(['second', 'second'])
  await expect.poll(() => sent.length).toBe(3)
  sent[2]?.resolve('third')
  expect(await later).toBe('third')
  void question.ask()
  expect(sent).toHaveLength(4)
})
