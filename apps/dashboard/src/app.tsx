export const App = () => (
  <main>
    <h1>Spout</h1>
  </main>
)
