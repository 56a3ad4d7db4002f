//! What people are by one word or two: their nationality, faith, diet, health, character and marital status, and
//! what they speak and work in.
//!
//! Lists alone; whether a sentence says so of somebody is decided by the facts.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::lexicon;
use crate::retrieval::words::is_stop_word;

/// What a phrase says of whoever is it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Being {
    pub(super) relation: &'static str,
    /// The label of the tail.
    pub(super) label: &'static str,
    /// The phrase, as it is written mostly.
    pub(super) name: &'static str,
}

/// The most words of a phrase of these lists.
pub(super) const PHRASE_WORDS_MAX: usize = 3;

/// What somebody is of whom a phrase is told, which is in lower case with blanks for hyphens: `night owl`.
pub(super) fn being(phrase: &str) -> Option<Being> {
    BEINGS.get(phrase).copied()
}

/// A condition that somebody has: `asthma`.
pub(super) fn condition(phrase: &str) -> Option<&'static str> {
    CONDITIONS.get(phrase).copied()
}

/// A language, by its name in lower case.
pub(super) fn language(word: &str) -> Option<&'static str> {
    LANGUAGES.get(word).copied()
}

/// A field of work: `finance`.
pub(super) fn field(phrase: &str) -> Option<&'static str> {
    FIELDS.get(phrase).copied()
}

/// What the rules call what somebody has told of under a label of their own: a `City` is a `Place`.
pub(super) fn of_label(label: String) -> String {
    let known = LABELS.iter().find(|(_, others)| others.contains(&label.as_str()));
    known.map_or(label, |(own, _)| (*own).to_owned())
}

/// Whether what is told of under a label may be something that is known under another: "my brother Tom" is not the
/// cat Tom, and nobody lives in a person.
pub(in crate::memory::extract) fn may_be(label: &str, known: &str) -> bool {
    let (label, known) = (of_label(label.to_owned()), of_label(known.to_owned()));
    let is_alive = |label: &str| matches!(label, "Person" | "Animal");
    let is_site = |label: &str| matches!(label, "Place" | "Organisation");
    match (is_alive(&label), is_site(&label)) {
        (true, _) => known == label || !is_alive(&known) && !is_site(&known),
        (_, true) => !is_alive(&known),
        _ => true,
    }
}

/// Labels of the rules, and others that people give such things.
const LABELS: [(&str, &[&str]); 4] = [
    ("Person", &["Friend", "Human", "People", "User"]),
    ("Animal", &["Cat", "Dog", "Pet"]),
    ("Place", &["City", "Country", "Location", "Region", "State", "Town", "Village"]),
    (
        "Organisation",
        &["Business", "Company", "Employer", "Firm", "Organization", "School", "University"],
    ),
];

/// Whether a word names an enterprise that somebody may run.
pub(super) fn is_enterprise(word: &str) -> bool {
    has(ENTERPRISES, word)
}

/// A title that stands before the name of a firm: `CTO`.
pub(super) fn title(word: &str) -> Option<&'static str> {
    TITLES.iter().find(|title| title.eq_ignore_ascii_case(word)).copied()
}

/// Whether a word is the end of a rank that somebody is promoted to.
pub(super) fn is_rank(word: &str) -> bool {
    has(RANKS, word)
}

/// Whether a word names a kind of vehicle.
pub(super) fn is_vehicle(word: &str) -> bool {
    has(VEHICLES, word)
}

/// Whether a word names a medicine, by itself or by its ending.
pub(super) fn is_medicine(word: &str) -> bool {
    let lower = word.to_lowercase();
    let has_ending = MEDICINE_ENDINGS.split(' ').any(|end| lower.ends_with(end));
    has(MEDICINES, &lower) || has_ending && lower.len() > 6
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// Whether a word names a colour.
pub(super) fn is_colour(word: &str) -> bool {
    has(COLOURS, word)
}

/// Whether a word tells what somebody is rather than what they are called, in any case: "my wife is Tired".
pub(super) fn is_trait(word: &str) -> bool {
    being(word).is_some()
        || language(word).is_some()
        || has(OTHER_KINDS, word)
        || lexicon::kin(word).is_some()
        || is_stop_word(word)
        || lexicon::is_time_noun(word)
        || lexicon::is_adjective(word)
        || lexicon::is_praise(word)
        || lexicon::is_feeling(word)
        || lexicon::is_pet(word)
        || lexicon::is_occupation(word)
}

/// The marital statuses, of which one holds at a time.
pub(super) const STATUSES: &[&str] = &["single", "married", "engaged", "divorced", "widowed"];

const TITLES: &[&str] = &["CEO", "CTO", "CFO", "COO", "CMO", "CIO", "founder", "cofounder"];

const RANKS: &str = "\
    administrator associate captain chief coordinator corporal executive foreman head lead lieutenant major \
    partner president principal sergeant specialist supervisor vp";

const VEHICLES: &str = "\
    bike bus cab car convertible hatchback jeep minivan moped motorbike motorcycle pickup scooter sedan suv taxi \
    truck van wagon";

const MEDICINES: &str = "\
    adderall antibiotics antidepressants antihistamines aspirin creatine insulin iron lithium magnesium \
    medication medicine meds melatonin multivitamins painkillers probiotics steroids supplements vitamin \
    vitamins";

/// How the names of medicines end, most by the stems of the International Nonproprietary Names.
const MEDICINE_ENDINGS: &str = "\
    afil amide amine apine azole barbital cillin cycline dipine etine formin gliptin idine iline lukast mycin \
    olol onide opram parin pril profen sartan setron sone statin thiazide traline triptan tyline vir \
    xaban zepam zolam zolpidem roxine";

const COLOURS: &str = "\
    beige black blue brown gold gray green grey indigo lavender magenta maroon navy orange pink purple red \
    silver teal turquoise violet white yellow";

const ENTERPRISES: &str = "\
    agency bakery bar blog bookshop bookstore business cafe café channel charity clinic company consultancy farm \
    firm gallery garage gym hostel hotel magazine newsletter nonprofit nursery podcast practice pub restaurant \
    salon shop startup store studio winery workshop";

/// Stars, parties and ranks, which are written as names are.
const OTHER_KINDS: &str = "\
    aries taurus gemini cancer leo virgo libra scorpio sagittarius capricorn aquarius pisces republican democrat \
    liberal conservative libertarian captain sergeant santa god deaf queer gay trans mr mrs ms dr asian african \
    european hispanic latina latino amish texan pregnant evil bossy marine navy sick ill dead batman";

/// Relation, label and phrases of what somebody is, one a line or parted by commas.
const BEING_LISTS: &[(&str, &str, &str)] = &[
    ("diet", "Diet", DIETS),
    ("religion", "Religion", FAITHS),
    ("nationality", "Nationality", NATIONALITIES),
    ("has_condition", "Condition", STATES_OF_HEALTH),
    ("has_trait", "Trait", TRAITS),
];

const DIETS: &str = "vegan, vegetarian, pescatarian, pescetarian, flexitarian, keto, paleo, kosher, halal, \
    plant-based, gluten-free, dairy-free, sugar-free, lactose-free, low-carb, Mediterranean";

const FAITHS: &str = "Jewish, Muslim, Christian, Catholic, Hindu, Buddhist, Sikh, Mormon, Protestant, Lutheran, \
    Methodist, Anglican, Presbyterian, Evangelical, Baptist, Quaker, atheist, agnostic";

const NATIONALITIES: &str = "Afghan, Albanian, Algerian, American, Angolan, Argentinian, Argentine, Armenian, \
    Australian, Austrian, Azerbaijani, Bangladeshi, Belarusian, Belgian, Bolivian, Bosnian, Brazilian, British, \
    Bulgarian, Cambodian, Cameroonian, Canadian, Chilean, Chinese, Colombian, Congolese, Costa Rican, Croatian, \
    Cuban, Cypriot, Czech, Danish, Dominican, Dutch, Ecuadorian, Egyptian, English, Eritrean, Estonian, \
    Ethiopian, Filipino, Filipina, Finnish, French, Georgian, German, Ghanaian, Greek, Guatemalan, Haitian, \
    Honduran, Hungarian, Icelandic, Indian, Indonesian, Iranian, Iraqi, Irish, Israeli, Italian, Ivorian, \
    Jamaican, Japanese, Jordanian, Kazakh, Kenyan, Korean, Kuwaiti, Latvian, Lebanese, Liberian, Libyan, \
    Lithuanian, Luxembourgish, Macedonian, Malaysian, Maltese, Mexican, Moldovan, Mongolian, Moroccan, \
    Mozambican, Namibian, Nepali, Nicaraguan, Nigerian, Norwegian, Pakistani, Palestinian, Panamanian, \
    Paraguayan, Peruvian, Polish, Portuguese, Puerto Rican, Romanian, Russian, Rwandan, Salvadoran, Saudi, Scottish, \
    Senegalese, Serbian, Singaporean, Slovak, Slovenian, Somali, South African, South Korean, Spanish, \
    Sri Lankan, Sudanese, Swedish, Swiss, Syrian, Taiwanese, Tanzanian, Thai, Tunisian, Turkish, Ugandan, \
    Ukrainian, Uruguayan, Uzbek, Venezuelan, Vietnamese, Welsh, Yemeni, Zambian, Zimbabwean";

const STATES_OF_HEALTH: &str = "diabetic, asthmatic, epileptic, dyslexic, autistic, bipolar, anemic, anaemic, celiac, \
    coeliac, color-blind, colour-blind, hypertensive, neurodivergent";

const TRAITS: &str = "left-handed, right-handed, ambidextrous, introvert, extrovert, introverted, extroverted, \
    night owl, early bird, early riser, perfectionist, homebody, \
    bilingual, trilingual, teetotal, teetotaler, teetotaller, non-smoker, nonsmoker";

const CONDITION_NAMES: &str = "ADHD, ADD, OCD, PTSD, IBS, PCOS, COPD, GERD, HIV, asthma, diabetes, \
    type 1 diabetes, type 2 diabetes, epilepsy, autism, arthritis, rheumatoid arthritis, migraines, \
    chronic migraines, anxiety, depression, insomnia, dyslexia, hypertension, high blood pressure, \
    low blood pressure, eczema, psoriasis, rosacea, endometriosis, fibromyalgia, lupus, tinnitus, scoliosis, \
    sciatica, hay fever, sleep apnea, sleep apnoea, celiac disease, coeliac disease, vertigo, anemia, anaemia, \
    glaucoma, osteoporosis, hypothyroidism, hyperthyroidism, multiple sclerosis, bipolar disorder, \
    chronic pain, chronic fatigue, acid reflux, high cholesterol";

const LANGUAGE_NAMES: &str = "Afrikaans, Albanian, Amharic, Arabic, Armenian, Basque, Bengali, Bulgarian, Burmese, \
    Cantonese, Catalan, Chinese, Croatian, Czech, Danish, Dutch, English, Esperanto, Estonian, Farsi, Finnish, \
    French, Gaelic, Galician, Georgian, German, Greek, Gujarati, Hausa, Hebrew, Hindi, Hungarian, Icelandic, \
    Igbo, Indonesian, Irish, Italian, Japanese, Kannada, Korean, Kurdish, Latin, Latvian, Lithuanian, \
    Macedonian, Malay, Malayalam, Maltese, Mandarin, Marathi, Mongolian, Nepali, Norwegian, Pashto, Persian, \
    Polish, Portuguese, Punjabi, Romanian, Russian, Serbian, Sinhala, Slovak, Slovenian, Somali, Spanish, \
    Swahili, Swedish, Tagalog, Tamil, Telugu, Thai, Tibetan, Turkish, Ukrainian, Urdu, Vietnamese, Welsh, \
    Xhosa, Yiddish, Yoruba, Zulu";

const FIELD_NAMES: &str = "academia, accounting, advertising, aerospace, agriculture, animation, architecture, \
    aviation, banking, biotech, construction, consulting, customer service, customer support, cybersecurity, \
    data science, design, ecommerce, education, energy, engineering, entertainment, fashion, film, finance, \
    fintech, food service, government, healthcare, health care, hospitality, HR, human resources, insurance, \
    IT, journalism, law, law enforcement, logistics, machine learning, manufacturing, marketing, media, \
    medicine, mining, music, operations, pharma, politics, procurement, product management, \
    public relations, publishing, real estate, recruiting, recruitment, research, retail, robotics, sales, \
    security, social work, software, software development, tech, telecom, theater, theatre, tourism, \
    transportation, web development";

type Names = LazyLock<HashMap<String, &'static str>>;

static BEINGS: LazyLock<HashMap<String, Being>> = LazyLock::new(|| {
    let lists = BEING_LISTS.iter().flat_map(|(relation, label, list)| {
        parts(list).map(|name| (key(name), Being { relation, label, name }))
    });
    let statuses = STATUSES.iter().map(|name| {
        ((*name).to_owned(), Being { relation: "marital_status", label: "Status", name })
    });
    lists.chain(statuses).collect()
});

static CONDITIONS: Names = LazyLock::new(|| names(CONDITION_NAMES));
static LANGUAGES: Names = LazyLock::new(|| names(LANGUAGE_NAMES));
static FIELDS: Names = LazyLock::new(|| names(FIELD_NAMES));

fn names(list: &'static str) -> HashMap<String, &'static str> {
    parts(list).map(|name| (key(name), name)).collect()
}

fn parts(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(',').map(str::trim)
}

fn key(name: &str) -> String {
    name.to_lowercase().replace('-', " ")
}

/// Whether a name is that of a program, a language or a service, where nobody lives and whom nobody marries.
pub(super) fn is_tool(name: &str) -> bool {
    TOOLS.contains(&name.to_lowercase().as_str())
}

/// Programs, languages and services whose names are no names of places.
const TOOLS: &[&str] = &[
    "airtable",
    "android studio",
    "aws",
    "azure",
    "bash",
    "boilerplate",
    "c++",
    "chatgpt",
    "confluence",
    "css",
    "discord",
    "django",
    "docker",
    "dropbox",
    "emacs",
    "excel",
    "facebook",
    "figma",
    "git",
    "github",
    "gitlab",
    "gmail",
    "golang",
    "google docs",
    "html",
    "instagram",
    "intellij",
    "javascript",
    "jira",
    "jupyter",
    "kotlin",
    "kubernetes",
    "linkedin",
    "linux",
    "mac",
    "macos",
    "mongodb",
    "mysql",
    "neovim",
    "nextjs",
    "node.js",
    "nodejs",
    "notion",
    "obsidian",
    "photoshop",
    "php",
    "postgres",
    "postgresql",
    "powerpoint",
    "pycharm",
    "python",
    "pytorch",
    "react",
    "reddit",
    "redis",
    "slack",
    "spotify",
    "spreadsheets",
    "sql",
    "sqlite",
    "svelte",
    "tailwind",
    "terraform",
    "tiktok",
    "trello",
    "twitter",
    "typescript",
    "ubuntu",
    "vercel",
    "vim",
    "visual studio",
    "vs code",
    "vscode",
    "vue",
    "webpack",
    "whatsapp",
    "youtube",
    "zoom",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_phrase_says() {
        let told = |phrase| being(phrase).map(|being| (being.relation, being.name));
        assert_eq!(told("gluten free"), Some(("diet", "gluten-free")));
        assert_eq!(told("costa rican"), Some(("nationality", "Costa Rican")));
        assert_eq!(told("single"), Some(("marital_status", "single")));
        assert_eq!(told("tall"), None);
        assert_eq!((condition("adhd"), condition("a cold")), (Some("ADHD"), None));
        assert_eq!((language("urdu"), field("real estate")), (Some("Urdu"), Some("real estate")));
    }

    #[test]
    fn no_phrase_is_longer_than_what_is_read() {
        let keys = BEINGS.keys().chain(CONDITIONS.keys()).chain(FIELDS.keys());
        assert_eq!(keys.map(|key| key.split(' ').count()).max(), Some(PHRASE_WORDS_MAX));
        assert!(LANGUAGES.keys().all(|key| !key.contains(' ')));
    }
}
