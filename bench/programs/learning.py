"""Programs of machine learning that need no gradient: clustering, recurrence, decoding."""

from __future__ import annotations

from bench.programs.dynamics import table
from bench.programs.namespace import Namespace

POINTS = [[x + 4 * (i % 3), y + 3 * (i % 4)] for i, (x, y) in enumerate(table(1000, 2))]
INPUT, RECURRENT, SEQUENCE = table(8, 32, 0.3), table(32, 32, 0.15), table(300, 8)
MOVES, EMISSIONS = table(24, 24), table(200, 24)


def kmeans(xp: Namespace) -> float:
    """1000 points in the plane, 12 centres, 30 of Lloyd's iterations."""
    points = xp.array(POINTS)
    centres, labels = points[:12], xp.arange(12)
    one, zero = xp.ones(()), xp.zeros(())
    for _ in range(30):
        apart = points[:, None, :] - centres[None, :, :]  # (1000, 12, 2)
        nearest = xp.argmin((apart * apart).sum(axis=2), axis=1)
        member = xp.where(nearest[:, None] == labels[None, :], one, zero)  # (1000, 12)
        centres = member.T @ points / member.sum(axis=0)[:, None]
    return float((centres * centres).sum().item())


def rnn(xp: Namespace) -> float:
    """A recurrent cell of width 32 over 300 inputs, one at a time, as a server would run it."""
    w_in, w_state, bias = xp.array(INPUT), xp.array(RECURRENT), xp.zeros((32,))
    sequence = xp.array(SEQUENCE)
    state, total = xp.zeros((32,)), xp.zeros(())
    for t in range(300):
        state = xp.tanh(sequence[t] @ w_in + state @ w_state + bias)
        total = total + xp.relu(state).sum()
    return float(total.item())


def viterbi(xp: Namespace) -> float:
    """The best path through 200 observations of 24 hidden states, and the states on it."""
    moves, emissions = xp.array(MOVES), xp.array(EMISSIONS)
    score, back = emissions[0], []
    for t in range(1, 200):
        candidates = score[:, None] + moves  # from, to
        back.append(xp.argmax(candidates, axis=0))
        score = xp.amax(candidates, axis=0) + emissions[t]
    state = int(xp.argmax(score, axis=0).item())
    path = [state]
    for pointers in reversed(back):
        state = int(pointers[state].item())
        path.append(state)
    return float(sum(i * state for i, state in enumerate(path)))
