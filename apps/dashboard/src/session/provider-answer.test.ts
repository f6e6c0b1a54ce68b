import { expect, it } from 'vitest'
import { answerIn } from './provider-answer.ts'

it.each([
  ['/ui/log-in', '?code=c&state=s', { code: 'c', state: 's' }],
  [
    '/ui/log-in',
    '?state=s&code=a%2Fb&iss=https%3A%2F%2Fid.example&session_state=x',
    { code: 'a/b', state: 's', iss: 'https://id.example' },
  ],
  ['/ui/log-in', '?error=access_denied&state=s', { error: 'access_denied' }],
  ['/ui/log-in', '?error=access_denied&code=c&state=s', { error: 'access_denied' }],
  ['/ui/log-in', '?error=Call%20%2B1%20555%200100&error_description=now', { error: 'unknown_error' }],
  ['/ui/log-in', '', null],
  ['/ui/log-in', '?code=c', null],
  ['/ui/load-balancers', '?code=c&state=s', null],
])('%s%s', (pathname, search, answer) => {
  expect(answerIn({ pathname, search })).toEqual(answer)
})
