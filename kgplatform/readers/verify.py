"""What the model itself says of an answer: whether the sentences that a statement cites support it.

checked = verified(answer, Calls(run.chat, run.ledger, run.tell))
checked.statements[0].supported      # True, False, or None for a statement that cites nothing
"""

from __future__ import annotations

from dataclasses import replace

from kgplatform.models.forms import Form, items
from kgplatform.models.reply import ask
from kgplatform.prompt import fence_for, render
from kgplatform.readers.grounding import without_numbers
from kgplatform.readers.run import Calls
from kgplatform.records import Answer
from kgplatform.text import counted


class Verdicts(Form):
    """``supported``: of each statement, in order, whether its sentences support it."""

    supported: list[bool] = items(60)


def verified(answer: Answer, calls: Calls) -> Answer:
    """``answer`` with what the model says of each cited statement: whether the cited sentences alone support it.

    One call, a step of the trace. Raises ``ModelError``.
    """
    cited = [each for each in answer.statements if each.citations]
    if not cited:
        return answer
    text = "\n\n".join(
        f"Statement {number}: {without_numbers(each.text)}\n"
        f"Sentences: {' '.join(answer.citations[place - 1].text for place in each.citations)}"
        for number, each in enumerate(cited, 1)
    )
    mark = calls.mark()
    messages = render("readers/verify", fence=fence_for(text), statements=text, question=answer.question)
    reply, _ = ask(calls, messages, Verdicts, stage="verify", tokens=20 + 10 * len(cited))
    verdicts = iter(reply.supported[: len(cited)])
    statements = [
        replace(each, supported=next(verdicts, None) if each.citations else None) for each in answer.statements
    ]
    detail = f"the model finds {sum(reply.supported[: len(cited)])} of {counted(len(cited), 'statement')} supported"
    calls.add("verify", detail, mark, prompt="readers/verify")
    trace, usage = (*answer.trace, *calls.steps), answer.usage + calls.usage
    return replace(answer, statements=tuple(statements), trace=trace, usage=usage)
