"""Texts for the self-check: a page of English to train on, and one sentence in many scripts.

The sentences are the beginning of Article 1 of the Universal Declaration of Human Rights (United Nations, 1948).
"""

ENGLISH = """\
Byte-pair encoding starts from the letters of a text and joins them into longer and longer pieces. It counts how often
each letter stands before each other letter, takes the pair that occurs most often, and writes a new letter for it. Then
it counts again. After some hundred rounds the new letters are the endings and the beginnings of words; after some
thousand rounds they are the words themselves. The order in which the pairs were joined is all that has to be written
down: whoever has the list can write any other text in the same letters, by joining the same pairs in the same order.

The method was made to compress files on small computers. It came back when people translated between languages with
neural networks, which need a list of words that is not too long, and yet must not be at a loss for a name that nobody
has written before. A word that is not in the list is written in pieces that are. The more often something is written,
the shorter it becomes; what is rare stays long, and nothing is ever lost. That is the whole of the matter, and also the
trouble with it: a language that the list has not seen is written in very many pieces, and whoever pays for each piece
pays more for the same thought in one language than in another.

All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should
act towards one another in a spirit of brotherhood. Everyone is entitled to all the rights and freedoms set forth in
this Declaration, without distinction of any kind, such as race, colour, sex, language, religion, political or other
opinion, national or social origin, property, birth or other status. Everyone has the right to life, liberty and the
security of person. No one shall be held in slavery or servitude; slavery and the slave trade shall be prohibited in all
their forms. Everyone has the right to recognition everywhere as a person before the law. All are equal before the law
and are entitled without any discrimination to equal protection of the law.
"""

# English that is not in the text above.
ENGLISH_UNSEEN = (
    "Everyone has the right to freedom of thought, and to share in the arts and in what others have written."
)

SCRIPTS = {
    "Latin": "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "Cyrillic": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "Arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.",
    "Hebrew": "כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "Devanagari": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "Han": "人人生而自由,在尊严和权利上一律平等。",
    "Japanese": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "Hangul": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "emoji": "👩‍👩‍👧 👍🏽 🇪🇺 e\u0301 \x00\ufeff\r\n\t",
}
