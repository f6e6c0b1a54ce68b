import { useNavigate, useSearch } from '@tanstack/react-router'
import type { FC } from 'react'
import { Card, Page } from '../parts/page.tsx'
import { Answer } from './answer.tsx'
import styles from './explain-page.module.css'
import { type Question, questionOf, searchOf, wrongIn } from './question.ts'
import { QuestionForm } from './question-form.tsx'

/** From a request that a person types to the member that would get it. The question is in the URL. */
export const ExplainPage: FC = () => {
  const question = questionOf(useSearch({ strict: false }))
  const navigate = useNavigate()
  const isAsked = Object.keys(wrongIn(question)).length === 0
  const ask = (next: Question): void => void navigate({ to: '/explain', search: searchOf(next) })
  return (
    <Page title="Explain">
      <div className={styles.columns}>
        <Card title="A request">
          <QuestionForm key={JSON.stringify(question)} asked={question} onAsk={ask} />
        </Card>
        <section aria-label="Answer" className={styles.answer}>
          {isAsked ? <Answer question={question} /> : <Hint />}
        </section>
      </div>
    </Page>
  )
}

const Hint = () => (
  <Card title="Where does a request go, and why?">
    <p className={styles.soft}>
      Type a request, or paste an address such as <code>http://shop.example.com/cart</code>. The page shows its way, hop
      by hop: who announces the address, which listener and route take it and why not the others, which members are in,
      which are out and since when. Nothing is sent: the routes are decided here, by the planner&#39;s own code.
    </p>
  </Card>
)
