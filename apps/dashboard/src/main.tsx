import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Problem } from './api/problem.ts'
import { App } from './app.tsx'
import { reloadAfterUpgrade } from './shell/outdated-page.ts'
import './style/base.css'

const place = document.getElementById('page')
if (place === null) throw new Error('the document has no element #page')
reloadAfterUpgrade()
createRoot(place, {
  // A refusal has a page of its own: it is no error of the page.
  onCaughtError: (error) => error instanceof Problem || console.error(error),
}).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
